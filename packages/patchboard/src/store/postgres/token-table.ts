import { TOKEN_CAPACITY, type TokenKind, type TokenStore } from '../../core/access/token-store.ts';
import type { Digest } from '../../core/ports.ts';
import type { Queryable } from '../../postgres/connection.ts';
import { NOW_MS } from './revisions.ts';
import type { Tables } from './schema.ts';

export interface TokenTableParts {
  readonly connection: Queryable;
  readonly tables: Tables;
  readonly digest: Digest;
}

/** Tokens that all nodes of the store accept, by the hash of the secret. Time is that of the database. */
export class TokenTable implements TokenStore {
  readonly #parts: TokenTableParts;

  constructor(parts: TokenTableParts) {
    this.#parts = parts;
  }

  async put(kind: TokenKind, secret: string, value: string, lifetimeMs: number): Promise<void> {
    const text = `insert into ${this.#table} (kind, sha256, value, expires_at) values ($1, $2, $3, ${NOW_MS} + $4::int8)
      on conflict (kind, sha256) do update set value = excluded.value, expires_at = excluded.expires_at`;
    await this.#query('put_token', text, [kind, this.#hash(secret), value, lifetimeMs]);
  }

  async find(kind: TokenKind, secret: string): Promise<string | null> {
    const text = `select value from ${this.#table} where kind = $1 and sha256 = $2 and expires_at > ${NOW_MS}`;
    return await this.#query('find_token', text, [kind, this.#hash(secret)]);
  }

  async spend(kind: TokenKind, secret: string): Promise<string | null> {
    const text = `delete from ${this.#table} where kind = $1 and sha256 = $2
      returning case when expires_at > ${NOW_MS} then value end as value`;
    return await this.#query('spend_token', text, [kind, this.#hash(secret)]);
  }

  /** Deletes expired tokens, and the oldest of each kind beyond its capacity. */
  async clean(): Promise<void> {
    await this.#query('clean_tokens', `delete from ${this.#table} where expires_at <= ${NOW_MS}`, []);
    const text = `delete from ${this.#table} where kind = $1 and sha256 in (
      select sha256 from ${this.#table} where kind = $1 order by expires_at desc offset $2)`;
    for (const [kind, capacity] of Object.entries(TOKEN_CAPACITY))
      await this.#query('drop_tokens', text, [kind, capacity]);
  }

  get #table(): string {
    return this.#parts.tables.tokens;
  }

  #hash(secret: string): string {
    return this.#parts.digest.sha256(secret);
  }

  /** Returns the value of the first row, if there is one. */
  async #query(name: string, text: string, values: readonly unknown[]): Promise<string | null> {
    const { rows } = await this.#parts.connection.query<{ value: string | null }>({ name, text }, values);
    return rows[0]?.value ?? null;
  }
}
