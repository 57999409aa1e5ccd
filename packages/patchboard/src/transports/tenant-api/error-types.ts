import { byFailureCode, type FailureCode } from '@patchboard/wire';

/** The error types of this API. Callers compare the names, so a meaning never changes. */
export const ERROR_TYPES = {
  ValueError: 'a value in the input refers to something that does not exist',
  ValidationError: "the input does not fit the tool's schema",
  OutputValidationError:
    'what the tool produced cannot be read, does not fit its output schema, or is too large; it is not passed on',
  ToolNotFoundError: 'the tenant has no tool of that name',
  PermissionError: 'policy, a hook, an operator or the tool itself does not allow the call',
  ApprovalRequiredError: 'the call is recorded and waits for an operator',
  InputRequiredError: 'the tool needs input from its caller, which this API cannot give',
  RateLimitError: 'too many calls; with HTTP 429',
  TimeoutError: 'no result, or no free slot, in time',
  InternalError: 'anything else that went wrong',
} as const;

export type ErrorType = keyof typeof ERROR_TYPES;

/** The error type of each failure code. */
export const ERROR_TYPE: Readonly<Record<FailureCode, ErrorType>> = byFailureCode(({ tenant }) => tenant);
