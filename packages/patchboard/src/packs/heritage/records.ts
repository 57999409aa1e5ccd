/** The owner of the data. Every access to the storage requires both. */
export interface SiteScope {
  readonly tenant: string;
  readonly site: string;
}

export interface ContentItem {
  readonly id: string;
  readonly content_type: string;
  readonly title: string;
  readonly body: string;
  readonly summary: string | null;
  readonly tags: readonly string[];
  readonly domains: readonly string[];
  readonly source: string | null;
  /** From 0 to 1; null if not rated. */
  readonly credibility_score: number | null;
  readonly verified: boolean;
  readonly status: string;
  /** RFC 3339. */
  readonly created_at: string;
}

export interface NpcProfile {
  readonly npc_id: string;
  readonly version: number;
  /** At most one version of a character is active. */
  readonly active: boolean;
  readonly name: string;
  readonly persona: Readonly<Record<string, unknown>>;
  readonly knowledge_domains: readonly string[];
  readonly greeting_templates: readonly string[];
  readonly max_response_length: number;
  readonly must_cite_sources: boolean;
}

export const PROMPT_TYPES = ['system', 'greeting', 'fallback'] as const;
export type PromptType = (typeof PROMPT_TYPES)[number];

export interface NpcPrompt {
  readonly npc_id: string;
  readonly prompt_type: PromptType;
  readonly version: number;
  readonly active: boolean;
  readonly prompt_text: string;
}

export interface PointOfInterest {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly description: string | null;
  readonly latitude: number | null;
  readonly longitude: number | null;
}

export interface SiteRoute {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly duration_minutes: number | null;
  /** Ids of points of interest, in the order of the walk. */
  readonly poi_ids: readonly string[];
}

/** The data of a site for import and export: everything except visitor events. */
export interface SiteData {
  readonly site_name: string;
  readonly contents: readonly ContentItem[];
  readonly npcs: readonly NpcProfile[];
  readonly prompts: readonly NpcPrompt[];
  readonly pois: readonly PointOfInterest[];
  readonly routes: readonly SiteRoute[];
}

export interface UserEvent {
  readonly id: string;
  readonly event_type: string;
  readonly event_data: Readonly<Record<string, unknown>>;
  readonly user_id: string | null;
  readonly session_id: string | null;
  /** RFC 3339. */
  readonly logged_at: string;
}
