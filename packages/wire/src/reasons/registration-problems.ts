import type { NoParams, ReasonView, Sentences } from './reason.ts';

/** What is wrong with a tool that a client registers, or with a frame of a device. */
export interface RegistrationProblems {
  readonly spec_not_object: NoParams;
  readonly spec_name_not_text: NoParams;
  /** `member`: as the API calls it, `schema` or `parameters`. */
  readonly spec_member_missing: { readonly member: string };
  readonly spec_not_schema: { readonly member: string };
  readonly spec_members_unknown: { readonly members: string };
  readonly spec_timeout: NoParams;
  readonly spec_not_text: { readonly member: string };
  readonly spec_not_record: { readonly member: string };
  readonly spec_annotations: { readonly names: string };
  readonly frame_not_json: {
    readonly problem: readonly ReasonView[];
    readonly line: number;
    readonly column: number;
  };
  readonly frame_not_object: NoParams;
  readonly frame_not_text: NoParams;
  readonly frame_type_missing: { readonly known: string };
  readonly frame_type_unknown: { readonly type: string; readonly known: string };
  readonly frame_malformed: { readonly place: string; readonly error: string };
  readonly hello_again: NoParams;
  readonly protocol_unknown: { readonly protocol: number; readonly spoken: number };
}

export const REGISTRATION_PROBLEMS: Sentences<RegistrationProblems> = {
  spec_not_object: () => 'a tool is a JSON object',
  spec_name_not_text: () => 'name must be a string',
  spec_member_missing: ({ member }) => `${member} is required`,
  spec_not_schema: ({ member }) => `${member} must be a JSON Schema: an object or a boolean`,
  spec_members_unknown: ({ members }) => `not known here: ${members}`,
  spec_timeout: () => 'timeout_ms must be a whole number of milliseconds from 1',
  spec_not_text: ({ member }) => `${member} must be a string`,
  spec_not_record: ({ member }) => `${member} must be an object`,
  spec_annotations: ({ names }) => `annotations is an object of booleans: ${names}`,
  frame_not_json: ({ problem, line, column }) =>
    `the frame is not acceptable JSON: ${problem} (line ${line}, column ${column})`,
  frame_not_object: () => 'a frame is a JSON object',
  frame_not_text: () => 'frames are text',
  frame_type_missing: ({ known }) => `type is missing; it must be one of: ${known}`,
  frame_type_unknown: ({ type, known }) => `type "${type}" is not known; it must be one of: ${known}`,
  frame_malformed: ({ place, error }) => `${place} ${error}`,
  hello_again: () => 'hello comes first and once: this connection has begun already',
  protocol_unknown: ({ protocol, spoken }) =>
    `protocol ${protocol} is not supported; this server supports ${spoken}`,
};
