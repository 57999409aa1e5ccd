/** The codes of WMO 4677 that Open-Meteo documents. */
const TEXTS: ReadonlyMap<number, string> = new Map([
  [1, 'Mostly clear'],
  [2, 'Partly cloudy'],
  [3, 'Overcast'],
  [45, 'Fog'],
  [48, 'Freezing fog'],
  [51, 'Light drizzle'],
  [53, 'Drizzle'],
  [55, 'Heavy drizzle'],
  [56, 'Light freezing drizzle'],
  [57, 'Freezing drizzle'],
  [61, 'Light rain'],
  [63, 'Rain'],
  [65, 'Heavy rain'],
  [66, 'Light freezing rain'],
  [67, 'Freezing rain'],
  [71, 'Light snow'],
  [73, 'Snow'],
  [75, 'Heavy snow'],
  [77, 'Snow grains'],
  [80, 'Light rain showers'],
  [81, 'Rain showers'],
  [82, 'Violent rain showers'],
  [85, 'Light snow showers'],
  [86, 'Heavy snow showers'],
  [95, 'Thunderstorm'],
  [96, 'Thunderstorm with light hail'],
  [99, 'Thunderstorm with heavy hail'],
]);

/** Returns "Sunny" for a clear sky by day only, and the number of an unknown code. */
export function weatherText(code: number, isDay: boolean | null): string {
  if (code === 0) return isDay === false ? 'Clear' : 'Sunny';
  return TEXTS.get(code) ?? `WMO weather code ${code}`;
}
