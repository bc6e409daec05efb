"""A report of one or several runs: built once as plain data, written as HTML, Markdown or LaTeX."""
