import { REQUEST_END, REQUEST_START, keyOfArgument } from './markers.ts';
import { writeValue } from './value.ts';

export interface RequestToWrite {
  readonly toolName: string;
  readonly command?: string;
  readonly requestId?: string;
  readonly args: Readonly<Record<string, string>>;
}

/** Whether the text protocol can express an argument of this name. */
export function isArgumentName(name: string): boolean {
  return /^[A-Za-z0-9_-]+$/.test(name) && name !== '__proto__';
}

/** Formats a request. Parsing it returns the same values, provided `isArgumentName` holds for each name. */
export function formatRequest({ toolName, command, requestId, args }: RequestToWrite): string {
  const fields = [
    fieldOf('tool_name', toolName),
    ...(command === undefined ? [] : [fieldOf('command', command)]),
    ...(requestId === undefined ? [] : [fieldOf('request_id', requestId)]),
    ...Object.entries(args).map(([name, value]) => fieldOf(keyOfArgument(name), value)),
  ];
  return [REQUEST_START, ...fields, REQUEST_END].join('\n');
}

function fieldOf(key: string, value: string): string {
  return `${key}:${writeValue(value)}`;
}
