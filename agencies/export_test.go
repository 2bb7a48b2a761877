package agencies

// Keys are the keys that the decoder knows, by the part of the file: what the schema is held against.
var Keys = map[string][]string{
	"": agencyKeys, "agent": agentKeys, "settings": settingsKeys, "edge": edgeKeys, "limits": limitKeys, "sessionLimits": sessionKeys, "file": fileKeys,
	"send": sendKeys, "inputGuardrail": inputGuardrailKeys, "outputGuardrail": outputGuardrailKeys, "reminder": reminderKeys, "toolUse": toolUseKeys,
}
