import { anthropicProtocol } from './anthropic/anthropic-protocol.ts';
import { openAiChatProtocol, openAiResponsesProtocol } from './openai/openai-protocols.ts';
import type { ToolCallingProtocol } from './protocol.ts';
import { vcpProtocol } from './vcp/vcp-protocol.ts';

export type ProtocolId = 'vcp' | 'anthropic' | 'openai' | 'openai-responses';

/** All protocols. To add one, add a folder beside these and a line here. */
const PROTOCOLS: Readonly<Record<ProtocolId, ToolCallingProtocol>> = {
  vcp: vcpProtocol,
  anthropic: anthropicProtocol,
  openai: openAiChatProtocol,
  'openai-responses': openAiResponsesProtocol,
};

export const PROTOCOL_IDS: readonly ProtocolId[] = Object.keys(PROTOCOLS) as ProtocolId[];

export function protocolOf(id: ProtocolId): ToolCallingProtocol {
  return PROTOCOLS[id];
}
