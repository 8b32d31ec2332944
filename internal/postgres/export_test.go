package postgres

// Find is exported for its test: which PostgreSQL a machine has is not for a test to choose.
var Find = find
