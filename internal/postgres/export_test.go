package postgres

// Find is exported for its test: which PostgreSQL a machine has is not for a test to choose.
var Find = find

// Brief is exported for its test: what a form of the tests spares needs no server of that form.
var Brief = brief
