// Package offclock sets the clock of a process wrong, for tests that start processes of their own. Only tests import it.
package offclock
