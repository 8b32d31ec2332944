// Package bench holds the workload W1 and the benchmarks of whole debates. Each is measured against a floor that runs in the
// same process. docs/benchmarks.md describes the workloads and shows the figures.
package bench
