// Package stage holds what the tests of several folders share: two debaters and a judge, the script that they follow, outages that
// befall them, debates too long for a window, flows with tools and people, how a stored log is read, and a company of engines on one
// store. Only tests import it.
//
// A scripted reply depends on the request's id alone. So a debate has the same record however often it is interrupted.
package stage
