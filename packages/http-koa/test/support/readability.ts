/** Runs in the page. Returns the elements that overflow its right edge and cannot be scrolled. */
export function overflowing(): string[] {
  const scrolls = (element: Element | null): boolean =>
    element !== null &&
    (/auto|scroll|hidden/.test(getComputedStyle(element).overflowX) ||
      scrolls(element.parentElement));
  const wide = [...document.body.querySelectorAll('*')]
    .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
    .filter((element) => !scrolls(element));
  if (document.documentElement.scrollWidth > innerWidth) wide.push(document.documentElement);
  return wide.map((element) => `${element.tagName}.${element.className}`);
}

/** Runs in the page. Returns the texts whose contrast is below 4.5:1 (WCAG 2.2, 1.4.3). */
export function faintTexts(): string[] {
  for (const animation of document.getAnimations()) animation.finish();
  type Color = readonly [red: number, green: number, blue: number, alpha: number];
  const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  if (context === null) throw new Error('there is no canvas');
  const parse = (css: string): Color => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = css;
    context.fillRect(0, 0, 1, 1);
    const [red = 0, green = 0, blue = 0, alpha = 0] = context.getImageData(0, 0, 1, 1).data;
    return [red, green, blue, alpha / 255];
  };
  const over = (top: Color, below: Color): Color => {
    const mix = (i: 0 | 1 | 2) => top[i] * top[3] + below[i] * (1 - top[3]);
    return [mix(0), mix(1), mix(2), 1];
  };
  const backgroundOf = (element: Element | null): Color => {
    if (element === null) return [255, 255, 255, 1];
    const own = parse(getComputedStyle(element).backgroundColor);
    return own[3] === 1 ? own : over(own, backgroundOf(element.parentElement));
  };
  const opacity = (element: Element | null): number =>
    element === null
      ? 1
      : Number(getComputedStyle(element).opacity) * opacity(element.parentElement);
  const luminance = (color: Color): number => {
    const linear = (value: number) =>
      value <= 10.3 ? value / 3294.6 : ((value / 255 + 0.055) / 1.055) ** 2.4;
    return 0.2126 * linear(color[0]) + 0.7152 * linear(color[1]) + 0.0722 * linear(color[2]);
  };
  const contrast = (element: Element): number => {
    const [red, green, blue, alpha] = parse(getComputedStyle(element).color);
    const below = backgroundOf(element);
    const ink = luminance(over([red, green, blue, alpha * opacity(element)], below));
    const paper = luminance(below);
    return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
  };
  return [...document.body.querySelectorAll('*')]
    .filter((element) => element.checkVisibility() && !element.closest('svg, noscript, script'))
    .filter((element) =>
      element.matches('textarea, input, select')
        ? true
        : [...element.childNodes].some((it) => it.nodeType === 3 && it.textContent?.trim()),
    )
    .filter((element) => contrast(element) < 4.5)
    .map(
      (element) =>
        `${contrast(element).toFixed(2)} ${element.tagName}.${element.className}: ${element.textContent?.slice(0, 40)}`,
    );
}
