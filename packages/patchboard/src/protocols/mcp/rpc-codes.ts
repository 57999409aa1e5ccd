/** Error codes of JSON-RPC and of MCP 2026-07-28. */
export const RPC_CODES = {
  parseError: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internalError: -32_603,
  cancelled: -32_000,
  sessionNotFound: -32_001,
  /** Of the protocol versions before 2026-07-28. */
  resourceNotFound: -32_002,
  headerMismatch: -32_020,
  missingCapability: -32_021,
  unsupportedVersion: -32_022,
} as const;
