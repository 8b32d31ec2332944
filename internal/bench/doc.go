// Package bench holds the benchmarks of whole debates. Each is measured against a floor that runs in the same process.
// docs/benchmarks.md describes the workloads and shows the figures.
package bench
