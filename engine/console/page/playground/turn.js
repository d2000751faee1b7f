/* What one side says, `{role, text, images}`, as the formats have it in common. */

/** Turns as messages: the content is the text alone, or parts where images go with it. */
export const messages = (turns, textPart, imagePart) =>
	turns.map(({ role, text, images }) => {
		const parts = [...(text ? [textPart(text)] : []), ...images.map(imagePart)];
		return { role, content: images.length ? parts : text };
	});

/** The media type and the bytes in base64 of an image, which is a data URL. */
export const bytesOf = (image) => /^data:([^;]+);base64,(.*)$/.exec(image).slice(1);
