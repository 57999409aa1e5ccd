import { REQUEST_END, REQUEST_START, keyOfArgument } from './markers.ts';
import { writeValue } from './value.ts';

export interface RequestToWrite {
  readonly toolName: string;
  readonly command?: string;
  readonly requestId?: string;
  readonly args: Readonly<Record<string, string>>;
}

/** Whether the dialect has a way to write an argument of this name. */
export function isArgumentName(name: string): boolean {
  return /^[A-Za-z0-9_-]+$/.test(name) && name !== '__proto__';
}

/** A request that reads back as it was given, if `isArgumentName` holds for each of its names. */
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
