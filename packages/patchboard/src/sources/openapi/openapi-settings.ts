import type { UpstreamSettings } from '../../core/upstreams/upstream.ts';
import type { OAuthSettings } from '../shared/oauth-settings.ts';

/** An HTTP API with an OpenAPI description, as configured, with all secrets filled in. */
export interface OpenApiSettings extends UpstreamSettings {
  readonly kind: 'openapi';
  /** A file path or an HTTP URL of the description. */
  readonly description:
    { readonly kind: 'file'; readonly path: string } | { readonly kind: 'url'; readonly url: string };
  /** The base URL of requests; null: the first server of the description. */
  readonly server: string | null;
  /** Added to every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Patterns of operation names (the part after the prefix); one that begins with `!` excludes. */
  readonly tools: readonly string[];
  /** Credentials by the name of the security scheme in the description. */
  readonly security: Readonly<Record<string, SecuritySettings>>;
}

export type SecuritySettings =
  | { readonly kind: 'value'; readonly value: string }
  | { readonly kind: 'basic'; readonly username: string; readonly password: string }
  | { readonly kind: 'oauth'; readonly oauth: OAuthSettings };
