import { REQUEST_END, REQUEST_START, keyOfArgument } from './markers.ts';
import { writeValue } from './value.ts';

export interface RequestToWrite {
  readonly toolName: string;
  readonly command?: string;
  readonly requestId?: string;
  readonly args: Readonly<Record<string, string>>;
}

/** A request that reads back as it was given. Names of arguments are made of `A-Z a-z 0-9 _ -`, and none is `__proto__`. */
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
