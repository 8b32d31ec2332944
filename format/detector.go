package format

// Detector names one of the detectors of package detect.
type Detector string

// The detectors.
const (
	// DetectRepetition finds speeches that repeat their speaker's earlier ones.
	DetectRepetition Detector = "repetition"
	// DetectDiminishing finds rounds that bring less and less. It reads the judges' marks for quality and, with a
	// rubric, for novelty. It also counts rounds that repeat.
	DetectDiminishing Detector = "diminishing-returns"
	// DetectDrift finds that the speeches leave the topic. It reads the rubric's marks for relevance. Without a
	// rubric it reads the judges' flags.
	DetectDrift Detector = "drift"
)
