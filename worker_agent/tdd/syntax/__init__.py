"""Source files of any language as syntax trees (tree-sitter): what a test, a function and an expectation is there."""
