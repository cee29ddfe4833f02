"""Results of simulations: data of runs, their files, and the table of displays."""
