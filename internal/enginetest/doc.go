// Package enginetest has, in a folder for each subject, the tests that play whole conversations on an engine: debates and their
// judges, budgets, context windows, tools, failures and what people decide about them, logs and what is made of them.
//
// What tests one part alone stands beside that part.
package enginetest
