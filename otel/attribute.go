package otel

import "go.opentelemetry.io/otel/attribute"

// schemaURL is the version of the semantic conventions that define the names below. It is the last
// version that includes the conventions for generative AI.
const schemaURL = "https://opentelemetry.io/schemas/1.41.0"

// Names of the conventions for generative AI, version 1.41.0. OpenTelemetry's own package does not have
// them any more.
const (
	keyOperation    = attribute.Key("gen_ai.operation.name")
	keyWorkflow     = attribute.Key("gen_ai.workflow.name")
	keyConversation = attribute.Key("gen_ai.conversation.id")
	keyAgent        = attribute.Key("gen_ai.agent.name")
	keyTool         = attribute.Key("gen_ai.tool.name")
	keyProvider     = attribute.Key("gen_ai.provider.name")
	keyModel        = attribute.Key("gen_ai.request.model")
	keyMaxTokens    = attribute.Key("gen_ai.request.max_tokens")
	keyTemperature  = attribute.Key("gen_ai.request.temperature")
	keyTopP         = attribute.Key("gen_ai.request.top_p")
	keyStop         = attribute.Key("gen_ai.request.stop_sequences")
	keySeed         = attribute.Key("gen_ai.request.seed")
	keyOutputType   = attribute.Key("gen_ai.output.type")
	keyResponse     = attribute.Key("gen_ai.response.id")
	keyAnswering    = attribute.Key("gen_ai.response.model")
	keyFinish       = attribute.Key("gen_ai.response.finish_reasons")
	keyInput        = attribute.Key("gen_ai.usage.input_tokens")
	keyOutput       = attribute.Key("gen_ai.usage.output_tokens")
	keyCacheRead    = attribute.Key("gen_ai.usage.cache_read.input_tokens")
	keyCacheWrite   = attribute.Key("gen_ai.usage.cache_creation.input_tokens")
	keyReasoning    = attribute.Key("gen_ai.usage.reasoning.output_tokens")
	keyMessages     = attribute.Key("gen_ai.output.messages")
	keyEvaluation   = attribute.Key("gen_ai.evaluation.name")
	keyScore        = attribute.Key("gen_ai.evaluation.score.value")
	keyLabel        = attribute.Key("gen_ai.evaluation.score.label")
	keyExplanation  = attribute.Key("gen_ai.evaluation.explanation")
	keyTokenType    = attribute.Key("gen_ai.token.type")
	keyError        = attribute.Key("error.type")

	eventEvaluation = "gen_ai.evaluation.result"

	metricTook   = "gen_ai.client.operation.duration"
	metricTokens = "gen_ai.client.token.usage" //nolint:gosec // a name, and no secret
)

// Values of the conventions.
const (
	operationChat     = "chat"
	operationAgent    = "invoke_agent"
	operationTool     = "execute_tool"
	operationWorkflow = "invoke_workflow"
	otherValue        = "_OTHER"       // of an enumeration: none of the known values
	goneValue         = "process_gone" // of this module: the call was lost with its process
)

// Names of this module.
const (
	keyFormat       = attribute.Key("debate.format")
	keyFlow         = attribute.Key("debate.flow")
	keyTopic        = attribute.Key("debate.topic")
	keyParticipants = attribute.Key("debate.participants")
	keyJudges       = attribute.Key("debate.judges")
	keyMaxRounds    = attribute.Key("debate.max_rounds")
	keyAfter        = attribute.Key("debate.after")
	keyState        = attribute.Key("debate.state")
	keyReason       = attribute.Key("debate.end_reason")
	keyRounds       = attribute.Key("debate.rounds")
	keyCalls        = attribute.Key("debate.calls")
	keyCost         = attribute.Key("debate.cost_usd")
	keyAtMost       = attribute.Key("debate.cost_at_most_usd")
	keyTold         = attribute.Key("debate.cost_told")
	keyTable        = attribute.Key("debate.cost_table_usd")
	keyUnfinished   = attribute.Key("debate.unfinished")
	keyRound        = attribute.Key("debate.round")
	keyPhase        = attribute.Key("debate.phase")
	keyExpected     = attribute.Key("debate.round.turns")
	keyCall         = attribute.Key("debate.call.id")
	keyKind         = attribute.Key("debate.call.kind")
	keyAttempt      = attribute.Key("debate.call.attempt")
	keyOutcome      = attribute.Key("debate.call.outcome")
	keyReask        = attribute.Key("debate.call.reask")
	keyTarget       = attribute.Key("debate.call.target")
	keyEffort       = attribute.Key("debate.call.effort")
	keyVerbosity    = attribute.Key("debate.call.verbosity")
	keyTier         = attribute.Key("debate.call.service_tier")
	keySearch       = attribute.Key("debate.call.search")
	keyWithout      = attribute.Key("debate.call.left_out")
	keyWait         = attribute.Key("debate.retry.wait")
	keyNext         = attribute.Key("debate.retry.model")
	keyWarning      = attribute.Key("debate.warning.kind")
	keyThreshold    = attribute.Key("debate.warning.threshold_usd")
	keyLeft         = attribute.Key("debate.warning.left_out")
	keyInquiry      = attribute.Key("debate.inquiry.id")
	keyAbout        = attribute.Key("debate.inquiry.calls")
	keyOptions      = attribute.Key("debate.inquiry.options")
	keyOption       = attribute.Key("debate.answer.option")
	keyReplacement  = attribute.Key("debate.answer.model")
	keyRule         = attribute.Key("debate.answer.rule")
	keyJudge        = attribute.Key("debate.evaluation.judge")
	keySwapped      = attribute.Key("debate.evaluation.swapped")
	keyTrigger      = attribute.Key("debate.trigger")
	keyWhy          = attribute.Key("debate.trigger.reason")
	keyLag          = attribute.Key("debate.lag.after")
	keyHeld         = attribute.Key("debate.held")
	keyQuarantined  = attribute.Key("debate.quarantined")

	labelPrefix = "debate.label."
)

// Names of the events in spans.
const (
	eventRetry      = "debate.retry"
	eventDropped    = "debate.dropped"
	eventWarning    = "debate.warning"
	eventSkipped    = "debate.skipped"
	eventRetriedNow = "debate.retried_now"
	eventRedacted   = "debate.redacted"
	eventWithdrawn  = "debate.withdrawn"
	eventInquiry    = "debate.inquiry"
	eventAnswer     = "debate.answer"
	eventSent       = "debate.sent"
	eventControl    = "debate.control"
)
