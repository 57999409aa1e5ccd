/** Sizes both ends of a connection must agree on; the server's own may be set in its config. */
export const WIRE_LIMITS = {
  bodyBytes: 1_114_112,
  frameBytes: 1_114_112,
  resultBytes: 1_048_576,
  /** What a body or a frame holds besides the result it carries. */
  envelopeBytes: 65_536,
  jsonDepth: 64,
  schemaBytes: 65_536,
  schemaDepth: 32,
  schemaProperties: 500,
  toolsPerClient: 500,
  toolDescriptionBytes: 8_192,
  toolMetadataBytes: 16_384,
  waitSeconds: 60,
  pageSize: 50,
  pageSizeMax: 200,
} as const;

/** Canonical tool names. Model vendors accept less; see the tool's wire name. */
export const TOOL_NAME_PATTERN: RegExp = /^[A-Za-z0-9_.-]{1,128}$/;

/** Ids that callers make up themselves: runs, clients, agents. */
export const PEER_ID_PATTERN: RegExp = /^[\x21-\x7e]{1,200}$/;
