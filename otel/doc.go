// Package otel turns a debate's events into spans and metrics.
package otel
