/** Default limits that client and server share. The server's config can change its own. */
export const WIRE_LIMITS = {
  bodyBytes: 1_114_112,
  frameBytes: 1_114_112,
  resultBytes: 1_048_576,
  /** For a result with content of a tool that runs in the server or at an upstream. */
  contentBytes: 4_194_304,
  /** Characters of content in a row of a list or in an event; the record of the call has all of it. */
  listedContent: 65_536,
  /** Room in a body or frame for everything but the result itself. */
  envelopeBytes: 65_536,
  jsonDepth: 64,
  schemaBytes: 65_536,
  schemaDepth: 32,
  schemaProperties: 500,
  toolsPerClient: 500,
  toolDescriptionBytes: 8_192,
  toolMetadataBytes: 16_384,
  uriCharacters: 2048,
  completionValues: 100,
  waitSeconds: 60,
  pageSize: 50,
  pageSizeMax: 200,
} as const;

/** Canonical tool names. Model vendors accept fewer characters; see the tool's wire name. */
export const TOOL_NAME_PATTERN: RegExp = /^[A-Za-z0-9_.-]{1,128}$/;

/** Ids that callers choose: of runs, clients and agents. */
export const PEER_ID_PATTERN: RegExp = /^[\x21-\x7e]{1,200}$/;
