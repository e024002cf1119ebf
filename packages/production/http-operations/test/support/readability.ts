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
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  if (canvas === null) throw new Error('there is no canvas');
  const paint = (color: string, opacity = 1): void => {
    canvas.globalAlpha = opacity;
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
  };
  const luminance = (): number => {
    const [red = 0, green = 0, blue = 0] = [...canvas.getImageData(0, 0, 1, 1).data].map((value) =>
      value <= 10.3 ? value / 3294.6 : ((value / 255 + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (text: Element): number => {
    const styles: CSSStyleDeclaration[] = [];
    for (let it: Element | null = text; it; it = it.parentElement)
      styles.push(getComputedStyle(it));
    paint('white');
    for (const { backgroundColor } of styles.toReversed()) paint(backgroundColor);
    const paper = luminance();
    const opacity = styles.reduce((product, style) => product * Number(style.opacity), 1);
    paint(getComputedStyle(text).color, opacity);
    const ink = luminance();
    return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
  };
  return [...document.body.querySelectorAll('*')]
    .filter((element) => element.checkVisibility() && !element.closest('svg, noscript, script'))
    .filter(
      (element) =>
        element.matches('textarea, input, select') ||
        [...element.childNodes].some((it) => it.nodeType === 3 && it.textContent?.trim()),
    )
    .map((element) => ({ element, ratio: contrast(element) }))
    .filter(({ ratio }) => ratio < 4.5)
    .map(({ element: { tagName, className, textContent }, ratio }) =>
      [ratio.toFixed(2), tagName, className, textContent?.slice(0, 40)].join(' '),
    );
}
