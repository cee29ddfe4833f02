"""What simulations leave: data of runs, their files, and the table of what shows them."""
