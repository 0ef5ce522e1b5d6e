from evenhand.integrations.trainer import BiasCallback as BiasCallback
