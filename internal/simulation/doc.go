// Package simulation holds tests that play thousands of random debates. Each simulation draws a debate and its troubles
// from a seed, checks every step against books of its own, and names the seed when it fails.
//
//	TestSimulation           one core: failures, duplicates, restarts, controls at any time
//	TestSimulationOfLimits   every sort of debate with limits of every dimension
//	TestSimulationOfPeople   people who are in time, late or gone, notes in between, and what follows the end
//	TestSimulationOfStores   several processes on one store that fails
package simulation
