"""`workflow-engine verify`: whether what a pull request claims is true."""
