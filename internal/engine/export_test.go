package engine

// Attributes is what the line of an event says, for the tests.
var Attributes = attributes
