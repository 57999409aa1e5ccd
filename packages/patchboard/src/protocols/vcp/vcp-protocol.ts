import type { ToolCallingProtocol } from '../protocol.ts';
import { parseReply } from '../reply-reader.ts';
import { formatDefinitions } from './definitions.ts';
import { formatResults } from './results.ts';
import { BEGINNING, finish, step } from './scanner.ts';

/** Variable & Command Protocol: calls as marked blocks in plain text, for models that only speak text. */
export const vcpProtocol: ToolCallingProtocol = {
  id: 'vcp',
  replies: 'text',
  generateToolDefinitions: formatDefinitions,
  parseToolRequests: (finalText) => parseReply(vcpProtocol, finalText).requests,
  formatToolResults: formatResults,
  begin: () => BEGINNING,
  step,
  finish,
};
