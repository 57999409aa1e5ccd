/** The tool that fetches the result of a call whose receipt was returned. */
export const RESULT_TOOL_NAME = 'patchboard__result';
