import type { ToolCallingProtocol } from './protocol.ts';
import { vcpProtocol } from './vcp/vcp-protocol.ts';

export type ProtocolId = 'vcp';

/** Every protocol there is, whatever its state is made of. A new one is a folder beside these, and a line here. */
const PROTOCOLS: Readonly<Record<ProtocolId, ToolCallingProtocol>> = {
  vcp: vcpProtocol as ToolCallingProtocol,
};

export const PROTOCOL_IDS: readonly ProtocolId[] = Object.keys(PROTOCOLS) as ProtocolId[];

export function protocolOf(id: ProtocolId): ToolCallingProtocol {
  return PROTOCOLS[id];
}
