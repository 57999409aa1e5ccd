export type Sentence = readonly [key: string, params: Readonly<Record<string, string>>];

/** Sentences of the server that the word lists have too, and what is particular in each. */
const SENTENCES: readonly (readonly [key: string, said: RegExp])[] = [
  ['destructive', /^the tool is destructive$/],
  ['requiresApproval', /^the tool requires approval$/],
  ['harmless', /^the tool is not marked as risky$/],
  ['noHook', /^mode is custom, and no hook decided$/],
  ['mode', /^mode is (?<mode>\w+)$/],
  ['switchedOff', /^(?<tool>\S+) is switched off$/],
  ['notSwitchedOn', /^(?<tool>\S+) is not switched on$/],
  ['named', /^(?<pattern>\S+) names it$/],
  ['byRule', /^a rule says so$/],
  ['noRule', /^no rule applies$/],
  ['granted', /^(?<who>.+) said not to ask again$/],
  ['hookAsks', /^a hook asks$/],
  [
    'commandWithoutSandbox',
    /^this server has no sandbox: the command runs as the user (?<user>.+), can read and change every file of that user, and has the network$/,
  ],
  [
    'writeWithoutSandbox',
    /^this server has no sandbox: it writes as the user (?<user>.+), and only the check of its path keeps it in the workspace$/,
  ],
  ['hookAllowed', /^a hook allowed it$/],
  ['hookHadIt', /^a hook had the result$/],
  ['hookDenied', /^Denied by hook$/],
  ['valueUnclosed', /^the value of "(?<key>.+)" is not closed: write (?<mark>\S+) right after it$/],
  ['someValueUnclosed', /^a value is not closed: write (?<mark>\S+) right after it$/],
  [
    'valueOpenBeforeRequest',
    /^the value of "(?<key>.+)" is not closed before (?<start>\S+): write (?<mark>\S+) right after it, or write the value between (?<from>\S+) and (?<to>\S+) if the marker is part of it$/,
  ],
  [
    'someValueOpenBeforeRequest',
    /^a value is not closed before (?<start>\S+): write (?<mark>\S+) right after it, or write the value between (?<from>\S+) and (?<to>\S+) if the marker is part of it$/,
  ],
  [
    'requestNested',
    /^the request stands inside a value that is not closed, and is not run: close the value before it, or write the value between (?<from>\S+) and (?<to>\S+)$/,
  ],
  ['unended', /^the request has no end: write (?<mark>\S+) after its last field$/],
  ['runsOn', /^the request has no end before the next one begins: write (?<mark>\S+) after its last field$/],
  ['noToolNamed', /^the request names no tool: add (?<field>\S+)$/],
  ['noToolCalled', /^the call names no tool$/],
  ['batchTooLarge', /^a batch may hold (?<count>\d+) commands: write several requests$/],
  ['givenTwice', /^"(?<key>.+)" is given twice: write each field once$/],
  ['noArgumentName', /^"(?<key>.+)" cannot be the name of an argument$/],
  ['valueOutside', /^the value of "(?<key>.+)" must stand between 「始」 and 「末」$/],
  ['fieldsOnly', /^only fields may stand in a request, each written as (?<field>\S+)$/],
  ['argumentsNoObject', /^the arguments of (?<tool>\S+) are no JSON object: (?<problem>.+)$/s],
  ['replyCut', /^the reply ended before the call of (?<tool>.+) was complete$/],
  ['noContent', /^the reply is no message: it has no "content"$/],
  ['noContentOrCalls', /^the reply is no message: it has neither "content" nor "tool_calls"$/],
  ['forOperators', /^(?<tool>\S+) is for operators, not for an AI$/],
  ['needsCredential', /^(?<tool>\S+) is only for those who show who they are$/],
  ['mayNotCall', /^permission denied: this agent may not call (?<tool>\S+)$/],
  ['problemsOmitted', /^(?<count>\d+) more problems of this reply are not listed$/],
  [
    'batchTooLong',
    /^the shared fields of a batch may take (?<count>\d+) characters over all commands: write several requests$/,
  ],
  ['toolUnknown', /^tool not found: (?<tool>.+)$/s],
  ['keyNeedsArgument', /^"(?<key>.+)" is an argument only where the tool has one of that name$/],
  ['keyUnused', /^"(?<key>.+)" is not used by (?<tool>\S+)$/],
  ['argumentMissing', /^"(?<key>.+)" is required$/],
  ['argumentUnknown', /^"(?<key>.+)" is no argument of this tool$/],
  ['argumentWrong', /^"(?<key>.+)" must be an? (?<type>[\w |]+)$/],
  ['argumentNoJson', /^"(?<key>.+)" must be an? (?<type>[\w |]+), written as JSON(?<problem>.*)$/s],
];

/** Which of the sentences it is, and what is particular in it; null if none. */
export function sentenceOf(said: string): Sentence | null {
  for (const [key, sentence] of SENTENCES) {
    const found = sentence.exec(said);
    if (found !== null) return [key, found.groups ?? {}];
  }
  return null;
}

/** The same for a decision that may have several reasons; what is none of the sentences stays as it was said. */
export function sentencesOf(said: string): readonly (Sentence | string)[] {
  const whole = sentenceOf(said);
  return whole === null ? said.split('; ').map((one) => sentenceOf(one) ?? one) : [whole];
}
