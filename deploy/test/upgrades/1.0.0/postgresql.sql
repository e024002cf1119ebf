CREATE TABLE public.plants (
    id bigint NOT NULL,
    name text NOT NULL,
    tag text,
    mark uuid NOT NULL
);
INSERT INTO public.plants VALUES (1, 'Monstera deliciosa', 'tropical', 'b9dc617c-83a2-4aad-afa4-72c1ecaf2783');
INSERT INTO public.plants VALUES (2, 'Bellis perennis', NULL, '24ce0d46-2381-4d13-8802-01fccfd5d2f5');
INSERT INTO public.plants VALUES (3, '', '', '52498b94-14bf-40f3-8734-b1fe74d75024');
INSERT INTO public.plants VALUES (9007199254740992, 'above 2^53', NULL, '58334d11-1f34-420a-86d5-2a55ad34e4b6');
INSERT INTO public.plants VALUES (9007199254740993, 'one more', NULL, '9fa6c5b8-64ca-47ce-a981-960aaa687189');
INSERT INTO public.plants VALUES (9223372036854775807, 'the largest id', NULL, '5d144fd0-55e6-4e59-8c35-2b262d2e801c');
INSERT INTO public.plants VALUES (-9223372036854775808, 'the smallest id', NULL, '2af4d9f7-7831-478e-bf13-7210130cd4e3');
INSERT INTO public.plants VALUES (0, 'Ünïcödé 🌵 ‏', 'línea
nueva', 'a913762f-3112-456f-8eaf-4f6abb2989cc');
INSERT INTO public.plants VALUES (4, 'U+0000: \0.', '\\0 and \\\\', '9d175044-d420-8fdc-8536-97282804056a');
INSERT INTO public.plants VALUES (5, 'a backslash: \0', NULL, 'a0544438-f126-4f13-9e9b-43ea214fae55');
ALTER TABLE ONLY public.plants
    ADD CONSTRAINT plants_pkey PRIMARY KEY (id);
GRANT SELECT,INSERT ON TABLE public.plants TO plant_store;
