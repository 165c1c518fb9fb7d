"""What a run leaves behind: a table on the screen, JSON and JUnit for machines, a page for people."""
