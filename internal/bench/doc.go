// Package bench holds the workload W1 and the benchmarks of whole debates. Command peers, in internal/peers, measures them beside a bare
// loop and another library. docs/internal/benchmarks.md describes the workloads and shows the figures.
package bench
