import { jsonReplies } from '../json-reply.ts';
import type { ToolCallingProtocol } from '../protocol.ts';
import { parseReply } from '../reply-reader.ts';
import { chatReply } from './chat-reply.ts';
import { chatResults, chatTools, openAiFunctions, responsesResults, responsesTools } from './openai-tools.ts';
import { responsesReply } from './responses-reply.ts';

/** Chat completions. */
export const openAiChatProtocol: ToolCallingProtocol = {
  id: 'openai',
  replies: 'json',
  generateToolDefinitions: (input) => JSON.stringify(chatTools(openAiFunctions(input).functions)),
  parseToolRequests: (finalText) => parseReply(openAiChatProtocol, finalText).requests,
  formatToolResults: (results) => JSON.stringify(chatResults(results)),
  ...jsonReplies(chatReply),
};

/** Responses. */
export const openAiResponsesProtocol: ToolCallingProtocol = {
  id: 'openai-responses',
  replies: 'json',
  generateToolDefinitions: (input) => JSON.stringify(responsesTools(openAiFunctions(input).functions)),
  parseToolRequests: (finalText) => parseReply(openAiResponsesProtocol, finalText).requests,
  formatToolResults: (results) => JSON.stringify(responsesResults(results)),
  ...jsonReplies(responsesReply),
};
