"""The viewer: a mechanism and its runs in the browser, through viser."""
