import type {
  AcceptContractView,
  ContractChangeView,
  ContractDifference,
  ReloadUpstreamsView,
  UpstreamToolView,
  UpstreamView,
} from '@patchboard/wire';
import {
  anything,
  boolean,
  listOf,
  nullable,
  number,
  object,
  optional,
  string,
  withDefault,
  word,
  type Decoder,
} from './decode.ts';
import { decodeAnnotations, decodeRejectedTool } from './views.ts';

const change: Decoder<ContractChangeView> = object<ContractChangeView>({
  from: string,
  since: string,
  differences: listOf(
    object<ContractDifference>({ path: string, before: optional(anything), after: optional(anything) }),
  ),
});

const tool: Decoder<UpstreamToolView> = object<UpstreamToolView>({
  name: string,
  version: string,
  annotations: withDefault(decodeAnnotations, {}),
  change: optional(change),
});

const decodeUpstream: Decoder<UpstreamView> = object<UpstreamView>({
  name: string,
  kind: word<UpstreamView['kind']>(),
  state: word<UpstreamView['state']>(),
  protocol: nullable(string),
  server: nullable(object<NonNullable<UpstreamView['server']>>({ name: string, version: string })),
  address: string,
  pack: string,
  tenants: nullable(listOf(string)),
  on_change: word<UpstreamView['on_change']>(),
  concurrency: number,
  sandboxed: nullable(boolean),
  tools: listOf(tool),
  rejected: listOf(decodeRejectedTool),
  in_flight: number,
  latency_ms: nullable(object<NonNullable<UpstreamView['latency_ms']>>({ median: number, p95: number })),
  last_error: nullable(object<NonNullable<UpstreamView['last_error']>>({ message: string, at: string })),
  connected_at: nullable(string),
  next_attempt_at: nullable(string),
});

export const decodeUpstreams: Decoder<{ readonly upstreams: readonly UpstreamView[] }> = object<{
  readonly upstreams: readonly UpstreamView[];
}>({ upstreams: listOf(decodeUpstream) });

export const decodeReloadedUpstreams: Decoder<ReloadUpstreamsView> = object<ReloadUpstreamsView>({
  added: listOf(string),
  removed: listOf(string),
  restarted: listOf(string),
});

export const decodeAcceptedContracts: Decoder<AcceptContractView> = object<AcceptContractView>({
  accepted: listOf(string),
});
