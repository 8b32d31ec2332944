// Package env finds providers by the keys that are set in the environment.
package env
