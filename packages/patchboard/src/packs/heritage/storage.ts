import type {
  ContentItem,
  NpcProfile,
  NpcPrompt,
  PointOfInterest,
  PromptType,
  SiteData,
  SiteRoute,
  SiteScope,
  UserEvent,
} from './records.ts';

export interface ContentQuery {
  readonly text: string;
  /** Null: any type. */
  readonly contentType: string | null;
  /** Items with at least one of these tags; empty: any tags. */
  readonly tags: readonly string[];
  readonly status: string;
  readonly limit: number;
}

export interface FoundContent {
  /** Best first, at most `limit`. */
  readonly items: readonly ContentItem[];
  /** Number of all hits, independent of the limit. */
  readonly total: number;
}

export interface SiteMap {
  readonly name: string;
  readonly pois: readonly PointOfInterest[];
  readonly routes: readonly SiteRoute[];
}

/**
 * The storage of the heritage tools. Every method accesses one site of one tenant. Writes resolve after the change is
 * durable. Reads resolve to undefined if there is no such record.
 */
export interface HeritageStorage {
  /** `version` null: the active version. */
  npcProfile(scope: SiteScope, npcId: string, version: number | null): Promise<NpcProfile | undefined>;
  activePrompt(scope: SiteScope, npcId: string, type: PromptType): Promise<NpcPrompt | undefined>;
  /**
   * Finds items with all words of the text in title, tags, summary or body. A sequence of Chinese characters, from one
   * character on, matches anywhere; words of other scripts match as prefixes.
   */
  search(scope: SiteScope, query: ContentQuery): Promise<FoundContent>;
  siteMap(scope: SiteScope): Promise<SiteMap | undefined>;
  /** Adds an item unless its id exists, and resolves to the stored item, so that a call can be retried. */
  addContent(scope: SiteScope, item: ContentItem): Promise<ContentItem>;
  addEvent(scope: SiteScope, event: UserEvent): Promise<UserEvent>;
  /** Adds records and replaces those with the same id, atomically. Other records stay. */
  importSite(scope: SiteScope, data: SiteData): Promise<void>;
  exportSite(scope: SiteScope): Promise<SiteData | undefined>;
  close(): Promise<void>;
}
