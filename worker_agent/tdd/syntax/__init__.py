"""Source files of any language as syntax trees (tree-sitter): their tests, functions and expectations."""
