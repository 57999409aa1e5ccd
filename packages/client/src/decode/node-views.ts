import type { NodesView, NodeView, TakeoverView } from '@patchboard/wire';
import { boolean, listOf, nullable, number, object, string, word, type Decoder } from './decode.ts';

const decodeNode: Decoder<NodeView> = object<NodeView>({
  writer: number,
  epoch: number,
  is_self: boolean,
  state: word<NodeView['state']>(),
  holder: nullable(string),
  url: nullable(string),
  version: nullable(string),
  fingerprint: nullable(string),
  room: number,
  calls: number,
  last_beat_ms: nullable(number),
  started_at: nullable(string),
  took_over: nullable(object<TakeoverView>({ writer: number, at: string, calls: number })),
});

export const decodeNodes: Decoder<NodesView> = object<NodesView>({
  nodes: listOf(decodeNode),
  same_config: boolean,
});
