/** Who is asking. It comes from the credential (or from local mode), never from the body alone. */
export interface Principal {
  readonly kind: 'agent' | 'client' | 'operator' | 'service' | 'local';
  readonly id: string;
  readonly tenant: string;
  readonly scopes: ReadonlySet<string>;
  /** The agent it acts as when it calls tools. */
  readonly agentId: string;
  /** The client it acts as when it runs tools; null: any of its tenant (local mode only). */
  readonly clientId: string | null;
}

export const DEFAULT_TENANT = 'default';
