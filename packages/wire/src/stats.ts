/** `of_tenant` of `GET /v1/stats`: what needs attention in the tenant of the request, at all nodes. */
export interface TenantStatsView {
  /** Calls that have not ended. */
  readonly open: number;
  /** Calls that wait for an operator. */
  readonly approvals: number;
  /** Devices that are connected. */
  readonly devices: number;
  /** Tools of upstreams whose contract differs from the accepted one. */
  readonly changed_tools: number;
}
