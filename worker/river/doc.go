// Package river works on debates by jobs of River.
package river
