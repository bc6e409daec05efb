"""One evaluation as a column of cells, and what people do about it."""
