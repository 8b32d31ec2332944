// Package stage holds what the tests of debates share: two debaters and a judge, the script that they follow, and a
// company of engines on one store. Only tests import it.
//
// A scripted reply depends on the request's id alone. So a debate has the same record however often it is interrupted.
package stage
