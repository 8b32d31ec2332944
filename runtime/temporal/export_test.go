package temporal

// Submit stores a debate.
var Submit = submit
