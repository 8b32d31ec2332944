// Package live shows a conversation on a terminal while it runs.
package live
